import type { ContextOperation } from '../../../machines/contracts/context.ts';
import type { ListedOperation } from '../../../src/journal/context-history.ts';
import { grouped, rounded } from '../../fold/number-words.ts';
import { shortly } from '../../ui-state/text.ts';

const DONE: Readonly<Record<ContextOperation['operation'], string>> = {
  ADD: 'added',
  TAG: 'tagged',
  PRUNE: 'pruned',
  TRANSFORM: 'summarised',
  LINK: 'linked',
  PRIORITIZE: 'prioritised',
};

/** What an operation does to its message, in a word. */
export const doneBy = ({ operation }: ContextOperation): string => DONE[operation];

/** What it sets: the tags, the link, the importance. Empty where its word says all. */
export function setBy(operation: ContextOperation): string {
  switch (operation.operation) {
    case 'TAG':
      return operation.data.tags.map((tag) => shortly(tag, 40)).join(', ');
    case 'LINK':
      return `to ${shortly(operation.data.to, 40)} (${shortly(operation.data.relation, 40)} ${rounded(operation.data.strength)})`;
    case 'PRIORITIZE':
      return `to ${rounded(operation.data.importance)}`;
    default:
      return '';
  }
}

/** What became of the length of its message. */
export function sizeWords({ operation, before, after }: ListedOperation): string {
  if (before === null) return after === null ? 'was not there: nothing changed' : `+${grouped(after)} characters`;
  if (operation.operation === 'ADD') return 'was there already: nothing changed';
  if (after === null) return `−${grouped(before)} characters`;
  return before === after ? '' : `${grouped(before)} to ${grouped(after)} characters`;
}

/** The numbers behind it; who was asked is told apart. */
export function numbersOf({ metadata }: ContextOperation): readonly string[] {
  return Object.entries(metadata ?? {})
    .filter(([name]) => name !== 'requiresConsent' && name !== 'consent')
    .map(
      ([name, value]) =>
        `${shortly(name, 40)} ${typeof value === 'number' ? rounded(value) : shortly(String(value), 60)}`,
    );
}

/** What its user said to it; null where nobody was asked. */
export function consentOf({ metadata }: ContextOperation): string | null {
  const said = metadata?.['consent'];
  return typeof said === 'string' ? `consent: ${shortly(said, 40)}` : null;
}
