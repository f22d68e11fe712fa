#!/usr/bin/env node
import { CommanderError } from 'commander';
import { PostChainError } from '../../machines/contracts/error.ts';
import { createProgram } from './program.ts';

const USAGE = 2;

/** A reader that went away (`postchain run … | head`) ends the program, quietly. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const program = createProgram((code) => {
  process.exitCode = code;
});
for (const command of [program, ...program.commands]) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeFor(error);
}

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  const asked = program.opts()['stack'] === true;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`postchain: ${asked && error instanceof Error ? error.stack : message.split('\n', 1)[0]}\n`);
  return error instanceof PostChainError ? USAGE : 1;
}
