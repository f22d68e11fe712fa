import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import { oneLine } from '../internal/printable.ts';
import type { Entry } from './screen.ts';

type Transition = Extract<JournalEntry, { type: 'transition' }>;

/** Any entry of a journal in one line. */
export function detailOf(entry: JournalEntry): Entry {
  const { seq: _, atMs, type, ...facts } = entry;
  const text = entry.type === 'transition' ? transitionText(entry) : factsText(facts);
  const { failure } = facts as { readonly failure?: unknown };
  return { name: type, ms: atMs, text, tone: failure ? 'bad' : entry.type === 'transition' ? 'aside' : 'plain' };
}

/** From where to where, and of each guard that was asked what it said and saw. */
function transitionText({ event, source, target, candidates }: Transition): string {
  const asked = candidates
    .filter(({ guard, verdict }) => guard !== null && verdict !== 'not-evaluated')
    .map(({ guard, verdict, inputs }) => `${guard} ${verdict === 'taken' ? 'yes' : 'no'}${inputsText(inputs)}`);
  const way = `${source}${event === '' ? '' : ` on ${event}`} → ${target.join(', ') || 'itself'}`;
  return oneLine([way, ...asked].join('; '));
}

function inputsText(inputs: Transition['candidates'][number]['inputs']): string {
  const pairs = Object.entries(inputs ?? {}).map(([name, value]) => `${name} ${value}`);
  return pairs.length === 0 ? '' : ` (${pairs.join(', ')})`;
}

const MAX_FACT_CHARS = 200;

function factsText(facts: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(facts).map(([name, value]) => `${name} ${shortly(value)}`);
  return oneLine(pairs.join(', '));
}

function shortly(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length <= MAX_FACT_CHARS ? text : `${text.slice(0, MAX_FACT_CHARS - 1)}…`;
}
