import { CommanderError } from 'commander';
import { PostChainError } from '../../machines/contracts/error.ts';
import { oneLine, printable } from '../internal/printable.ts';
import { describeSystemError } from '../internal/system-error.ts';
import { createProgram } from './program.ts';

const FAILED = 1;
const INVALID_USAGE = 2;

/** Runs the command in this process's arguments, and sets its exit code. */
export async function start(): Promise<void> {
  // A closed pipe (`postchain run … | head`) ends the program quietly.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`postchain: cannot print the answer: ${oneLine(error.message)}\n`);
    process.exit(FAILED);
  });
  // A run continues if nothing reads its progress.
  process.stderr.on('error', () => {});

  const program = createProgram((code) => {
    process.exitCode = code;
  });
  for (const command of [program, ...program.commands])
    command.exitOverride().configureOutput({
      outputError: (text, write) => write(`postchain: ${oneLine(text.replace(/^error: /u, ''))}\n`),
    });
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = report(error, program.opts()['stack'] === true);
  }
}

function report(error: unknown, showsStack: boolean): number {
  // Commander has printed its own errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : INVALID_USAGE;
  const withStack = showsStack && error instanceof Error;
  process.stderr.write(
    `postchain: ${withStack ? printable(error.stack ?? '') : oneLine(describeSystemError(error))}\n`,
  );
  return error instanceof PostChainError ? INVALID_USAGE : FAILED;
}
