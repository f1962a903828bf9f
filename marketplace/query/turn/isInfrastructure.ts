// What tools say of themselves when it is not the arguments that were wrong: they are overloaded, out of quota, not let in by whomever
// they ask, or too slow. MCP has no field for it, so that it is told by words. A number alone is none of them: it may be an argument.
const WORDS = [
  /rate.?limit|too many requests|throttl/,
  /unauthori[sz]ed|forbidden|not authori[sz]ed|permission denied/,
  /(?:invalid|missing|expired|wrong|bad|no) api.?(?:key|token)|(?:invalid|expired|missing) credentials|authentication (?:failed|required)/,
  /quota (?:is |was |has been )?(?:exceeded|exhausted|reached|used up)|(?:exceed\w*|over|out of) (?:\w+ ){0,3}quota|insufficient (?:quota|credits)/,
  /timed[ -]?out|time-?out (?:after|exceeded|error|while|of \d)|(?:request|gateway|connection|read|upstream) time-?out|deadline exceeded/,
  /\b(?:http|status|code|error)(?: status| code)?\W{0,3}(?:401|402|403|408|429|50[0-4])\b/,
  /service unavailable|temporarily unavailable|bad gateway|overloaded|econn(?:refused|reset)|connection (?:refused|reset)|try again later/,
];

export const isInfrastructure = (message: string): boolean => {
  const words = message.toLowerCase();
  return WORDS.some((pattern) => pattern.test(words));
};
