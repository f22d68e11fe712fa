import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { nothingHere, type Refusal } from './request-authorizer.ts';

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

/** The files of the built page. */
export interface PageFiles {
  /** By its path, as the request has it; empty: the page itself. */
  read(path: string): Promise<PageFile | Refusal>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};

/** Names as a build makes them: nothing encoded, and none that begins with a dot. */
const PATH = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/u;

const notBuilt: Refusal = { status: 503, text: 'The page of the inspector is not built: npm run build makes it.' };

export function pageFiles(folder: string): PageFiles {
  return {
    async read(path) {
      const name = path === '' ? 'index.html' : path;
      const type = TYPES[extname(name)];
      if (type === undefined || !PATH.test(name)) return nothingHere;
      try {
        return { type, bytes: await readFile(join(folder, name)) };
      } catch {
        return name === 'index.html' ? notBuilt : nothingHere;
      }
    },
  };
}
