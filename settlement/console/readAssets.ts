import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { extname } from "node:path";

export type Asset = { readonly body: string; contentType: string };

export type Assets = {
  page: Asset & { etag: string };
  // By path below the folder that is named after the version.
  files: ReadonlyMap<string, Asset>;
  version: string;
};

const FOLDER = new URL("./app/", import.meta.url);
const PAGE = "index.html";
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  // Browsers get TypeScript with its types taken out, under its own name, so that imports stay as they are written.
  ".ts": "text/javascript; charset=utf-8",
};
const VERSION_LENGTH = 16;

// Reads everything that a browser is served, once. Nothing else can be asked for, whatever path is sent.
export function readAssets(folder: URL = FOLDER): Assets {
  const files = new Map<string, Asset>();
  // What is taken out of TypeScript, and how, is Node's.
  const sources = [process.version];
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
  for (const path of paths.sort()) {
    const contentType = CONTENT_TYPES[extname(path)];
    if (contentType === undefined) continue;
    const source = readFileSync(new URL(path, folder), "utf8");
    sources.push(path, source);
    files.set(path, path.endsWith(".ts") ? typeScript(source, contentType) : { body: source, contentType });
  }
  const page = files.get(PAGE);
  if (page === undefined) throw new Error(`the console has no ${PAGE}`);
  files.delete(PAGE);
  // A folder of its own for every version, so that files can be kept permanently and never go with another page.
  const version = hash("sha256", JSON.stringify(sources)).slice(0, VERSION_LENGTH);
  const body = page.body.replaceAll("{version}", version);
  return { page: { ...page, body, etag: `"${version}"` }, files, version };
}

// Types are taken out for the first who asks: most daemons are never asked, and it would be a tenth of their start.
function typeScript(source: string, contentType: string): Asset {
  let body: string | undefined;
  return {
    contentType,
    get body() {
      body ??= withoutTypes(source);
      return body;
    },
  };
}

// Node itself runs on this function, and yet warns whoever calls it that it may change. Only that warning is kept back.
function withoutTypes(source: string): string {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: never[]) => {
    if (!String(warning).includes("stripTypeScriptTypes")) emitWarning.call(process, warning, ...rest);
  };
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}
