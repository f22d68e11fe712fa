import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { defineConfig, type UserConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { runCharts } from '../src/inspection/source.ts';
import { pureSchemas } from '../vite.config.ts';
import { bakedDrawings } from './vite-plugins.ts';

const INLINE = /<(script|style)(?![^>]*application\/json)[^>]*>([\s\S]*?)<\/\1>/gu;

/**
 * Adds a content security policy to a single-file page, before all scripts: only its own scripts and styles (by
 * digest), no requests.
 */
function strictPolicy(): Plugin {
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

const here = import.meta.dirname;

function page(name: string): UserConfig {
  return {
    root: here,
    base: './',
    plugins: [bakedDrawings(runCharts()), pureSchemas()],
    build: {
      target: 'es2023',
      outDir: join(here, '../dist', name),
      emptyOutDir: true,
      license: { fileName: 'LICENSES.md' },
      modulePreload: false,
      chunkSizeWarningLimit: 2_000,
      // Laying out our charts takes seconds, but only at build time.
      rolldownOptions: { checks: { bundlerTimings: false } },
    },
  };
}

function filePage(name: string): UserConfig {
  const { plugins = [], ...config } = page(name);
  return { ...config, plugins: [...plugins, viteSingleFile({ removeViteModuleLoader: true }), strictPolicy()] };
}

/** The chart layout: a worker of the served page, for charts of other programs. */
const layout: UserConfig = {
  root: here,
  build: {
    target: 'es2023',
    outDir: join(here, '../dist/inspector'),
    emptyOutDir: false,
    license: { fileName: 'LICENSES-layout.md' },
    modulePreload: false,
    chunkSizeWarningLimit: 2_000,
    rolldownOptions: {
      input: { layout: join(here, 'chart/layout-worker.ts') },
      output: { entryFileNames: '[name].js' },
    },
  },
};

/** Modes: the served inspector (default), the single-file inspector, and the chart layout. */
export default defineConfig(({ mode }) => {
  if (mode === 'file') return filePage('inspector-file');
  return mode === 'layout' ? layout : page('inspector');
});
