import { registerHooks } from "node:module";

// Whoever imports one of these packages gets the file that stands for it. Plain JavaScript, because it is loaded before every program.
export function substitute(files) {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const url = files[specifier];
      if (url === undefined || !context.conditions.includes("import")) return nextResolve(specifier, context);
      return { url, format: "module", shortCircuit: true };
    },
  });
}
