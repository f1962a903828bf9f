// Starts a program that starts another one, says whose they are, and stays.
import { startProgram } from "../startProgram.ts";

const program = startProgram("sh", ["-c", "sleep 1000 & echo inner $!; wait"]);
const [, inner] = await program.printed(/inner (\d+)/);
console.log(`${program.pid} ${inner}`);
await program.ended;
