export const between = (min: number, max: number) => min + Math.floor(Math.random() * (max - min + 1));
export const anyOf = <T>(items: readonly T[]): T => items[between(0, items.length - 1)] as T;
