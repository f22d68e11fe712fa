#!/usr/bin/env node
import { CommanderError } from 'commander';
import { PostChainError } from '../../machines/contracts/error.ts';
import { oneLine, printable } from '../internal/printable.ts';
import { createProgram } from './program.ts';

const USAGE = 2;

const FAILED = 1;

/** A reader that went away (`postchain run … | head`) ends the program, quietly; an answer that cannot be printed is told. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`postchain: the answer cannot be printed: ${oneLine(error.message)}\n`);
  process.exit(FAILED);
});
/** Progress that nobody reads is no reason to lose the answer. */
process.stderr.on('error', () => {});

const program = createProgram((code) => {
  process.exitCode = code;
});
for (const command of [program, ...program.commands])
  command.exitOverride().configureOutput({ outputError: (text, write) => write(printable(text)) });

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeFor(error);
}

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  const asked = program.opts()['stack'] === true;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(
    `postchain: ${asked && error instanceof Error ? printable(error.stack ?? '') : oneLine(message.split('\n', 1)[0] ?? '')}\n`,
  );
  return error instanceof PostChainError ? USAGE : FAILED;
}
