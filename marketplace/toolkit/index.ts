// What a tool's developer imports, as `context-settlement/toolkit`.
export {
  ANSWER_META,
  ANSWER_TYPES,
  type Answer,
  answerDomain,
  CHARGE_META,
  type Court,
  hashJson,
  hashRequest,
  type SignedAnswer,
  typedAnswer,
} from "./answer/answer.ts";
export { canonicalJson } from "./answer/canonicalJson.ts";
export { judgeAnswer, type Verdict } from "./answer/judgeAnswer.ts";
export { type SignAnswersOptions, signAnswer, signAnswers } from "./answer/signAnswers.ts";
export { type Verification, verifyAnswer } from "./answer/verifyAnswer.ts";
export type { ContextRequest } from "./middleware/checkRequest.ts";
export {
  type ContextClaims,
  createVerifier,
  UnauthorizedError,
  type VerifierOptions,
} from "./middleware/createVerifier.ts";
export { isOpenMcpMethod, isProtectedMcpMethod } from "./middleware/methods.ts";
export {
  type ContextListener,
  createContextHook,
  createContextMiddleware,
  withContext,
} from "./middleware/middleware.ts";
export { TOOL_ID_HEADER } from "./middleware/toolIdHeader.ts";
export { verifyContextRequest } from "./middleware/verifyContextRequest.ts";
export { close, handleMcp, listen, type ServedTool, type ServeToolOptions, serveTool } from "./serveTool.ts";
