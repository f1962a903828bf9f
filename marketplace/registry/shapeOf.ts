// Letters of other alphabets, and signs, by the letter that they look like. Greek and Cyrillic capitals stand here as themselves, because
// their small forms often look like another letter.
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  ...{
    a: "ΑαАаɑ",
    b: "ΒβВвꓐ",
    c: "СсϲϹ",
    d: "Ԁԁ",
    e: "ΕεЕе",
    g: "ɡ",
    h: "ΗНнһհ",
    i: "ΙιІіı",
    j: "Јј",
    k: "ΚκКк",
    l: "ʟ|!1Ӏӏ",
  },
  ...{
    m: "ΜМм",
    n: "Νηոп",
    o: "ΟοОоօ0",
    p: "ΡρРр",
    q: "Ԛԛք",
    s: "Ѕѕ",
    t: "ΤτТт",
    u: "υսц",
    v: "νѵ",
    w: "ωԜԝ",
    x: "ΧχХх",
  },
  ...{ y: "ΥγУуү", z: "Ζ" },
};
const LETTERS = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([letter, others]) => [...others].map((other) => [other, letter])),
);

// Letters that look alike in most fonts, after what is a capital I has become small.
const PAIRS = [
  [/[il]/g, "l"],
  [/rn/g, "m"],
  [/vv/g, "w"],
] as const;

// What a name looks like: two of the same shape are taken for each other at a glance, whatever they are written with.
export function shapeOf(name: string): string {
  const plain = name.normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const latin = [...plain].map((letter) => LETTERS.get(letter) ?? letter.toLowerCase()).join("");
  return PAIRS.reduce(
    (shape, [pair, letter]) => shape.replaceAll(pair, letter),
    latin.replaceAll(/[^\p{L}\p{N}]/gu, ""),
  );
}
