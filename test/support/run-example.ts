import { resolve } from 'node:path';
import { format } from 'node:util';
import { expect, vi } from 'vitest';

/** Runs an example that is a single file, and checks that it prints what its comments say. */
export async function runExample(name: string, code: string): Promise<void> {
  const print = vi.spyOn(console, 'log').mockImplementation(() => {});
  const before = process.listeners('SIGINT');
  // Some examples export what they run, and run it only as a program.
  const [, program = ''] = process.argv;
  process.argv[1] = resolve('examples', name);
  await import(/* @vite-ignore */ resolve('examples', name));
  process.argv[1] = program;
  const printed = print.mock.calls.map((values) => format(...values));
  print.mockRestore();
  // End an example that stays open until Ctrl-C.
  for (const end of process.listeners('SIGINT')) if (!before.includes(end)) end('SIGINT');
  expect(printed.length).toBeGreaterThan(0);
  for (const [, text] of code.matchAll(/console\.log\(.*\); \/\/ (.+)$/gm)) expect(printed).toContain(text);
}
