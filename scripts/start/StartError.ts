// Something that the person at the keyboard can fix: its message ends with the way out. Everything else that is
// thrown is a defect and keeps its stack trace.
export class StartError extends Error {
  override readonly name = "StartError";
}

// The person changed their mind while the stack was starting.
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}
