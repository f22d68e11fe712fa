import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ConsentChoice } from '../../machines/contracts/context.ts';
import { TITLES } from '../testing/coverage/coverage-report.ts';
import type { Thresholds } from '../testing/coverage/coverage-text.ts';
import type { AnswerFormat } from './render-answer.ts';

export const CONSENT_CHOICES: readonly ConsentChoice[] = ['keep', 'summarise', 'remove'];
export const ANSWER_FORMATS: readonly AnswerFormat[] = ['text', 'markdown', 'json'];
export const JOURNALS = 'where journals are kept: a folder, or an SQLite file (default ~/.postchain/journals)';
export const RUN = 'a journal file, the id of a run or the beginning of it, or "last"';

/** An option that may be given several times. */
export function eachOf(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('Wanted a whole number of at least 1.');
  return Number(text);
}

export function positive(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !(number > 0 && number <= 2_000_000))
    throw new InvalidArgumentError('Wanted a number above 0, at most 2,000,000.');
  return number;
}

/** `80`: of all parts; `guards=60`: of those of a kind. May be given several times. */
export function threshold(text: string, before: Thresholds = {}): Thresholds {
  const [, title = 'all', number = ''] = /^(?:(\w+)=)?(\d+(?:\.\d+)?)$/u.exec(text) ?? [];
  const kinds: readonly string[] = Object.values(TITLES);
  if (number === '' || Number(number) > 100 || ![...kinds, 'all'].includes(title))
    throw new InvalidArgumentError(`Wanted per cent, as 80 or guards=60; kinds are ${kinds.join(', ')}.`);
  return { ...before, [title]: Number(number) };
}

export function portNumber(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('Wanted a port, from 0 to 65535.');
  return Number(text);
}

/** The options of a command that plays a run, to look at it in the inspector. */
export function inspecting(command: Command): Command {
  return command
    .option('--inspect', 'show the run in the inspector, a page in your browser, until Ctrl-C')
    .addOption(
      new Option('--inspect-port <port>', 'the port of the inspector (default: one that is free)')
        .argParser(portNumber)
        .implies({ inspect: true }),
    );
}
