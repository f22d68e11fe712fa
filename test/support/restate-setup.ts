import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { build } from 'vite';
import { builtServices, serverBinary } from './restate-cluster.ts';

/** Installs the server where it is missing, and builds the services: Node 20 runs no TypeScript. */
export async function setup(): Promise<void> {
  if (!existsSync(serverBinary)) execFileSync('npm', ['run', '--silent', 'restate:install'], { stdio: 'inherit' });
  await build({
    logLevel: 'warn',
    build: {
      outDir: builtServices,
      emptyOutDir: true,
      rolldownOptions: {
        input: { rig: 'test/support/restate-service.ts', example: 'examples/restate/main.ts' },
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
      },
    },
  });
}

export async function teardown(): Promise<void> {
  await rm(builtServices, { recursive: true, force: true });
}
