import { z } from 'zod';
import type { FailureStage } from '../../../../machines/contracts/failure.ts';
import type { ReplyForm } from '../../../../machines/contracts/model.ts';
import type { Draws } from './seeded.ts';

export type ListOrObject = 'object' | 'list';

/** What a reply says, and what is to come of it when all of it arrives. */
export interface Said {
  readonly name: string;
  readonly text: string;
  /** Said as plain text even where a tool call is wanted. */
  readonly isBeside: boolean;
  /** The JSON in it, unwrapped; undefined, there is none. */
  readonly json?: unknown;
  /** What the schema makes of it; undefined where it is refused. */
  readonly value?: unknown;
  /** The items of a list that may be given: those before the first that is wrong. */
  readonly items: readonly unknown[];
  /** How many characters there are up to the end of each. */
  readonly itemEnds: readonly number[];
  /** Why it is refused. Two of the same words are wrong in the same way. */
  readonly wrong: Wrong | null;
}

export interface Wrong {
  readonly stage: FailureStage;
  readonly code: string;
  readonly how: string;
}

const Item = z
  .object({ n: z.int(), label: z.string() })
  .refine(({ n }) => n !== 13, 'not thirteen')
  .transform(({ n, label }) => {
    if (label === 'boom') throw new Error('boom');
    return { n, label: label.toUpperCase() };
  });
export const schemas = { object: Item, list: z.array(Item) };

interface RawItem {
  readonly n: unknown;
  readonly label: string;
}

const WRONGS: Readonly<Record<'shape' | 'rule' | 'throws', Wrong & { readonly change: object }>> = {
  shape: { stage: 'schema', code: 'invalid_reply', how: 'shape', change: { n: 'many' } },
  rule: { stage: 'refinement', code: 'invalid_reply', how: 'rule', change: { n: 13 } },
  throws: { stage: 'transformation', code: 'transformation_failed', how: 'throws', change: { label: 'boom' } },
};

const rawItem = (draw: Draws): RawItem => ({
  n: draw.int(14, 9_999),
  label: draw.pick(['plain', 'with "quotes"', 'ünï😀', 'a\nb', '{[,]}', '']),
});

const made = ({ n, label }: RawItem): unknown => ({ n, label: label.toUpperCase() });

function endsIn(text: string, items: readonly unknown[]): number[] {
  let end = 0;
  return items.map((item) => {
    const json = JSON.stringify(item);
    end = text.indexOf(json, end) + json.length;
    return end;
  });
}

/** A reply that is one whole JSON text. */
export function wholeReply(draw: Draws, kind: ListOrObject, fault: keyof typeof WRONGS | null): Said {
  const items = Array.from({ length: kind === 'object' ? 1 : draw.int(fault === null ? 0 : 1, 4) }, () =>
    rawItem(draw),
  );
  const at = draw.int(0, Math.max(0, items.length - 1));
  const wrong = fault === null ? null : WRONGS[fault];
  if (wrong !== null) items[at] = { ...(items[at] as RawItem), ...wrong.change };
  const json = kind === 'object' ? items[0] : items;
  // Whether an empty list without its object is the value depends on how the reply ends: see lists-and-roots.test.ts.
  const isBare = kind === 'object' || (items.length > 0 && draw.chance(0.3));
  const text = JSON.stringify(isBare ? json : { value: json });
  return {
    name: fault ?? 'right',
    text,
    itemEnds: endsIn(text, items),
    isBeside: false,
    json,
    ...(wrong === null && { value: kind === 'object' ? made(items[0] as RawItem) : items.map(made) }),
    items: kind === 'object' ? [] : items.slice(0, wrong === null ? items.length : at).map(made),
    wrong: wrong && { stage: wrong.stage, code: wrong.code, how: `${wrong.how} ${fault === 'throws' ? '' : at}` },
  };
}

/** A reply with words around its JSON: a text may have them, the arguments of a tool may not. */
export function wordyReply(draw: Draws, kind: ListOrObject, form: ReplyForm): Said {
  const whole = wholeReply(draw, kind, null);
  const text = draw.pick([
    `Here {it} is: ${whole.text} Bye.`,
    `\`\`\`json\n${whole.text}\n\`\`\``,
    `I think [well, a bit] so: ${whole.text}`,
  ]);
  const itemEnds = whole.itemEnds.map((end) => end + text.indexOf(whole.text));
  return form === 'text' ? { ...whole, name: 'wordy', text, itemEnds } : noReply('wordy', text, form);
}

/** A reply with no JSON that could be read. */
export function noReply(name: string, text: string, form: ReplyForm, isBeside = false): Said {
  const isEmpty = text === '' || (isBeside && form === 'tool-call');
  const code = !isEmpty ? 'no_json' : form === 'text' ? 'empty_reply' : 'no_tool_call';
  return { name, text, isBeside, items: [], itemEnds: [], wrong: { stage: 'extraction', code, how: code } };
}

/** A reply that ends before its JSON does. */
export function brokenReply(draw: Draws, kind: ListOrObject, form: ReplyForm): Said {
  const { text, items, itemEnds } = wholeReply(draw, kind, 'shape');
  return { ...noReply('broken', text.slice(0, -1), form), items, itemEnds };
}

/** A whole JSON text, but an object for a list, or a list for an object. */
export function swappedReply(kind: ListOrObject): Said {
  const json = kind === 'object' ? [{ n: 1, label: 'a' }] : { n: 1, label: 'a' };
  return {
    name: 'swapped',
    text: JSON.stringify(json),
    isBeside: false,
    json,
    items: [],
    itemEnds: [],
    wrong: { stage: 'schema', code: 'invalid_reply', how: 'swapped' },
  };
}
