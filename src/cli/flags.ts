import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ConsentChoice } from '../../machines/contracts/context.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import { type CoverageThresholds, TITLES } from '../testing/coverage/coverage-report.ts';
import type { AnswerFormat } from './render-answer.ts';

const CONSENT_CHOICES: readonly ConsentChoice[] = ['keep', 'summarize', 'remove'];
const APPROVALS = ['always', 'never'];
const ANSWER_FORMATS: readonly AnswerFormat[] = ['text', 'markdown', 'json'];

/** The statuses of runs and actors, in the words of the inspector. */
export const STATUS_WORDS: readonly string[] = [
  'running',
  'waiting',
  'interrupted',
  'queued',
  'completed',
  'degraded',
  'cancelled',
  'failed',
  'stopped',
  'damaged',
];

export const JOURNALS =
  'directory, SQLite file or postgres:// URL of the journals (default: $POSTCHAIN_JOURNALS or ~/.postchain/journals)';
export const RUN = 'run id, a prefix of one, "last", or a journal file';
export const MODULE =
  'module that exports the durable machine of an actor; repeatable (default: postchain.config.mjs, .js, .ts or .mts)';

export function withAnswerOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--consent <choice>', 'what to do with your long messages, without asking').choices(CONSENT_CHOICES),
    )
    .addOption(
      new Option('--approve <choice>', 'whether to run calls that need approval, without asking').choices(APPROVALS),
    )
    .addOption(new Option('--format <format>', 'format of the answer').choices(ANSWER_FORMATS).default('text'))
    .addOption(new Option('--json', 'same as --format json; prints no progress').conflicts(['quiet', 'format']))
    .option('--quiet', 'print no progress');
}

export function withInspectOptions(command: Command): Command {
  return command
    .option('--inspect', 'serve the run in the inspector, a local web page, until Ctrl-C')
    .addOption(
      new Option('--inspect-port <port>', 'port of the inspector (default: a free port)')
        .argParser(portNumber)
        .implies({ inspect: true }),
    );
}

export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

export function positiveInteger(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('Expected an integer ≥ 1.');
  return Number(text);
}

export function positiveNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !(number > 0 && number <= 2_000_000))
    throw new InvalidArgumentError('Expected a number > 0 and ≤ 2,000,000.');
  return number;
}

/** Parses the URL of a model server. A user, query or fragment may hold a key, so it is rejected without being repeated. */
export function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null ||
    !/^https?:$/u.test(url.protocol) ||
    `${url.username}${url.password}${url.search}${url.hash}` !== ''
  )
    throw new PostChainError(
      'invalid_option',
      '--base-url must be an http or https URL without user, query and fragment',
    );
  return text;
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Parses an age such as `30d` into milliseconds. */
export function age(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,5})([mhdw])$/u.exec(text) ?? [];
  const ms = Number(number) * (UNIT_MS[unit] ?? 0);
  if (!(ms > 0)) throw new InvalidArgumentError('Expected an age such as 30d, 12h, 2w or 90m.');
  return ms;
}

export function portNumber(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('Expected a port number from 0 to 65535.');
  return Number(text);
}

/** Parses `80` (all items) or `guards=60` (items of one kind). Repeatable. */
export function threshold(text: string, before: CoverageThresholds = {}): CoverageThresholds {
  const [, title = 'all', number = ''] = /^(?:(\w+)=)?(\d+(?:\.\d+)?)$/u.exec(text) ?? [];
  const kinds: readonly string[] = Object.values(TITLES);
  if (number === '' || Number(number) > 100 || ![...kinds, 'all'].includes(title))
    throw new InvalidArgumentError(`Expected a percentage such as 80 or guards=60; kinds are ${kinds.join(', ')}.`);
  return { ...before, [title]: Number(number) };
}
