import { diffWordsWithSpace } from 'diff';
import microdiff from 'microdiff';
import type { Message } from '../../machines/contracts/message.ts';

export interface MessageDifference {
  readonly id: string;
  readonly before: Message | null;
  readonly after: Message | null;
}

/** The messages that were added, removed or changed, by id, in context order. */
export function messageDifferences(
  before: readonly Message[],
  after: readonly Message[],
): readonly MessageDifference[] {
  if (before === after) return [];
  const old = new Map(before.map((message) => [message.id, message]));
  const kept = new Set(after.map(({ id }) => id));
  const gone = before
    .filter(({ id }) => !kept.has(id))
    .map((message) => ({ id: message.id, before: message, after: null }));
  const now = after.flatMap((message): MessageDifference[] => {
    const was = old.get(message.id) ?? null;
    return was !== null && isSame(was, message) ? [] : [{ id: message.id, before: was, after: message }];
  });
  return [...gone, ...now];
}

/** Compares the texts first, which is cheapest. */
function isSame(one: Message, other: Message): boolean {
  if (one === other) return true;
  if (one.content !== other.content) return false;
  const [{ content: _, ...rest }, { content: __, ...otherRest }] = [one, other];
  return JSON.stringify(rest) === JSON.stringify(otherRest);
}

/** The fields, other than the text, that differ between two versions of a message. */
export function memberDifferences(before: Message, after: Message): readonly FieldDifference[] {
  const [{ content: _, ...one }, { content: __, ...other }] = [before, after];
  return Object.entries(other).flatMap(([name, value]) => {
    const was = one[name as keyof typeof one];
    return JSON.stringify(was) === JSON.stringify(value) ? [] : [{ path: name, before: was, after: value }];
  });
}

/** A changed value in a state. `before` or `after` is undefined if there is none. */
interface FieldDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface FieldGroup {
  readonly name: string;
  readonly fields: readonly FieldDifference[];
}

type Members = Readonly<Record<string, unknown>>;

export function stateDifferences(
  before: unknown,
  after: unknown,
  except: readonly string[] = [],
): readonly FieldGroup[] {
  const [one, other] = [membersOf(before), membersOf(after)];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.flatMap((name) => {
    const [was, is] = [one[name], other[name]];
    if (except.includes(name) || was === is) return [];
    const fields = changedFields({ [name]: was }, { [name]: is });
    return fields.length === 0 ? [] : [{ name, fields }];
  });
}

/** The values that differ between two objects, as paths with dots. */
export const changedFields = (before: object, after: object): readonly FieldDifference[] =>
  microdiff(before, after, { cyclesFix: false }).map((difference) => ({
    path: difference.path.join('.'),
    before: difference.type === 'CREATE' ? undefined : difference.oldValue,
    after: difference.type === 'REMOVE' ? undefined : difference.value,
  }));

const membersOf = (state: unknown): Members => (typeof state === 'object' && state !== null ? (state as Members) : {});

/** A piece of text, and which of two texts contain it. */
export interface Piece {
  readonly text: string;
  readonly in: 'both' | 'before' | 'after';
}

/** Longer texts and texts with more differences take too long to compare. */
const MAX_CHARS = 40_000;
const MAX_EDITS = 1_000;

/** Compares two texts word by word; null if they are too long or too different. */
export function wordDifference(before: string, after: string): readonly Piece[] | null {
  if (before.length + after.length > MAX_CHARS) return null;
  const found = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS });
  if (found === undefined) return null;
  return found.map(({ value, added, removed }) => ({
    text: value,
    in: added ? 'after' : removed ? 'before' : 'both',
  }));
}
