import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import type { RunCharts } from '../src/inspection/wire.ts';
import { chartDigest, type Drawing } from './chart/drawing.ts';
import { drawingsOf } from './chart/layout-charts.ts';

const NAME = 'virtual:drawings';

/** Lays out charts at build time, so that the page shows them at once. The drawings are keyed by chart digest. */
export function bakedDrawings(charts: RunCharts): Plugin {
  return {
    name: 'baked-drawings',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
    load: async (id) => {
      if (id !== `\0${NAME}`) return null;
      const baked = await bake(charts);
      return `export const baked = JSON.parse(${JSON.stringify(JSON.stringify(baked))});`;
    },
  };
}

const CACHE = join(import.meta.dirname, '../node_modules/.cache/drawings');

/** Returns the drawings by the digests of their charts. Laying out takes seconds, so builds of the same charts by the same code share a file. */
export async function bake(charts: RunCharts): Promise<Record<string, Drawing>> {
  const path = join(CACHE, `${digestOf(charts)}.json`);
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'));
  const drawings = Object.entries(await drawingsOf(charts));
  const baked = Object.fromEntries(drawings.map(([id, drawing]) => [chartDigest(id, charts), drawing]));
  mkdirSync(CACHE, { recursive: true });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(baked));
  renameSync(temporary, path);
  return baked;
}

/** Changes with the charts and with everything that lays them out. */
function digestOf(charts: RunCharts): string {
  const digest = createHash('sha256').update(JSON.stringify(charts));
  for (const folder of ['chart', 'fold'])
    for (const name of readdirSync(join(import.meta.dirname, folder)).sort())
      if (name.endsWith('.ts')) digest.update(readFileSync(join(import.meta.dirname, folder, name)));
  return digest.update(readFileSync(join(import.meta.dirname, '../node_modules/elkjs/package.json'))).digest('hex');
}

const INLINE = /<(script|style)(?![^>]*application\/json)[^>]*>([\s\S]*?)<\/\1>/gu;

/**
 * Adds a content security policy to a single-file page, before all scripts: only its own scripts and styles (by
 * digest), no requests.
 */
export function strictPolicy(): Plugin {
  return {
    name: 'strict-policy',
    // Runs after everything was inlined.
    writeBundle({ dir = '.' }, bundle) {
      for (const { fileName } of Object.values(bundle)) {
        const path = join(dir, fileName);
        if (fileName.endsWith('.html')) writeFileSync(path, withPolicy(readFileSync(path, 'utf8')));
        // A page opened from disk cannot load other files.
        else rmSync(path, { force: true });
      }
    },
  };
}

function withPolicy(html: string): string {
  const digests = { script: [] as string[], style: [] as string[] };
  for (const [, kind, text = ''] of html.matchAll(INLINE))
    digests[kind as keyof typeof digests].push(`'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  const policy = [
    "default-src 'none'",
    `script-src ${digests.script.join(' ')}`,
    `style-src ${digests.style.join(' ')}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const tag = `<meta http-equiv="Content-Security-Policy" content="${policy}" />`;
  return html.replace('<meta charset="utf-8" />', (charset) => `${charset}\n    ${tag}`);
}
