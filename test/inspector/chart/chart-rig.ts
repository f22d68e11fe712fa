import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { build } from 'vite';
import { bakedDrawings } from '../../../inspector/vite-plugins.ts';
import { runCharts } from '../../../src/inspection/source.ts';

/** The charts of a run of PostChain, as its server tells them. */
export const ownCharts = runCharts();

/** The page of the tests, built into a folder of its own. */
export async function buildChartPage(): Promise<{ readonly folder: string; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'postchain-chart-'));
  await build({
    root: 'test/inspector/chart/page',
    configFile: false,
    logLevel: 'error',
    base: './',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    plugins: [bakedDrawings(ownCharts)],
    build: {
      outDir: folder,
      emptyOutDir: true,
      minify: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });
  await build({
    configFile: 'inspector/vite.config.ts',
    mode: 'layout',
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: false },
  });
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

/** As strict as the inspection server's. */
const POLICY =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

/** The page on a free loopback port, under that policy. */
export async function servePage(folder: string) {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = new URL(url, 'http://page').pathname;
    const name = path === '/' ? '/index.html' : path;
    try {
      const body = await readFile(join(folder, name));
      response
        .writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'image/x-icon', 'content-security-policy': POLICY })
        .end(body);
    } catch {
      response.writeHead(204).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
