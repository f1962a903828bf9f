import { consentCommand } from "./consent.ts";

export default consentCommand(false);
