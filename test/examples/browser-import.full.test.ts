import { build, type Rolldown } from 'vite';
import { expect, it } from 'vitest';

it('importing postchain loads no Node modules: they are loaded on first use', async () => {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      minify: false,
      rolldownOptions: {
        input: 'src/index.ts',
        external: /^node:|^[a-z@]/,
        preserveEntrySignatures: 'strict',
        treeshake: false,
      },
    },
  });
  const { output } = built as Rolldown.RolldownOutput;
  const chunks = new Map(output.flatMap((one) => (one.type === 'chunk' ? [[one.fileName, one] as const] : [])));
  const seen = new Set<string>();
  const follow = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const next of chunks.get(name)?.imports ?? []) follow(next);
  };
  for (const chunk of chunks.values()) if (chunk.isEntry) follow(chunk.fileName);
  expect([...seen]).toContain('zod');
  expect([...seen].filter((name) => /^node:|^tinyglobby|^openai/.test(name))).toEqual([]);
});
