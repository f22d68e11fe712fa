import { format } from 'node:util';
import { expect, vi } from 'vitest';

/** Runs an example that is a single file, and checks that it prints what its comments say. */
export async function runExample(name: string, code: string): Promise<void> {
  const print = vi.spyOn(console, 'log').mockImplementation(() => {});
  const before = process.listeners('SIGINT');
  await import(`../../examples/${name.slice(0, -'.ts'.length)}.ts`);
  const printed = print.mock.calls.map((values) => format(...values));
  print.mockRestore();
  // End an example that stays open until Ctrl-C.
  for (const end of process.listeners('SIGINT')) if (!before.includes(end)) end('SIGINT');
  expect(printed.length).toBeGreaterThan(0);
  for (const [, text] of code.matchAll(/console\.log\(.*\); \/\/ (.+)$/gm)) expect(printed).toContain(text);
}
