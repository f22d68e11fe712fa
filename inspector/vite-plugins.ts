import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** The drawings by the digests of their charts. */
async function bake(charts: RunCharts): Promise<Record<string, Drawing>> {
  const drawings = await drawingsOf(charts);
  return Object.fromEntries(Object.entries(drawings).map(([id, drawing]) => [chartDigest(id, charts), drawing]));
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
