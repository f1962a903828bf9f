// Messages of errors and reasons are written in lower case and without a full stop, so that they can be put together. This
// makes a sentence of one for people, once, where it leaves the program: an HTTP answer, a command's last line, an alert.
export function sentenceOf(message: string): string {
  const sentence = `${message[0]?.toUpperCase() ?? ""}${message.slice(1)}`;
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}
