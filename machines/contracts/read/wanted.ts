import type { z } from 'zod';

/** As much of a zod schema as its members are found by. */
interface Node {
  readonly description?: string | undefined;
  readonly shape?: Readonly<Record<PropertyKey, Node>>;
  readonly def?: { readonly innerType?: Node; readonly element?: Node };
}

/** Without its defaults and what makes it optional. */
export function bare(schema: z.ZodType): z.ZodType {
  return bareNode(schema as unknown as Node) as unknown as z.ZodType;
}

function bareNode(node: Node): Node {
  return node.def?.innerType === undefined ? node : bareNode(node.def.innerType);
}

/** What a schema wants, in words: its own, else those of the issue. */
export function wantedOf(schema: z.ZodType, issue: z.core.$ZodIssue | undefined): string {
  const node = (issue?.path ?? []).reduce<Node | undefined>(memberOf, schema as unknown as Node);
  return described(node) ?? wordsOf(issue);
}

function memberOf(node: Node | undefined, key: PropertyKey): Node | undefined {
  const { shape, def } = bareNode(node ?? {});
  return typeof key === 'number' ? def?.element : shape?.[key];
}

function described(node: Node | undefined): string | undefined {
  return node === undefined ? undefined : (node.description ?? described(node.def?.innerType));
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function wordsOf(issue: z.core.$ZodIssue | undefined): string {
  switch (issue?.code) {
    case undefined:
      return 'what can be read';
    case 'invalid_type':
      return TYPES[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' ? 'a text that is not empty' : `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    default:
      return 'something else';
  }
}
