import type { StandardSchemaV1 } from '@standard-schema/spec';

/** What an issue is about: the value's shape, a rule of the user's own over it, or its transformation. */
export type IssueKind = 'shape' | 'rule' | 'transformation';

/** What Standard Schema leaves to each library. */
interface Vendor {
  readonly kindOf: (marks: IssueMarks) => IssueKind;
  /** Rules are code: JSON Schema cannot say them, and the value is held against them anyway. So they are left out of it. */
  readonly withoutRules?: Readonly<Record<string, unknown>>;
}

/** What libraries mark an issue with, beside the message and path of the spec. */
export interface IssueMarks {
  readonly code?: unknown;
  readonly kind?: unknown;
  readonly type?: unknown;
}

export function marksOf(issue: StandardSchemaV1.Issue): IssueMarks {
  const { code, kind, type } = issue as IssueMarks;
  return { code, kind, type };
}

const VALIBOT_RULES = ['check', 'check_items', 'every_item', 'partial_check', 'raw_check', 'some_item'];

const vendors: Readonly<Record<string, Vendor>> = {
  zod: { kindOf: ({ code }) => (code === 'custom' ? 'rule' : 'shape') },
  arktype: {
    kindOf: ({ code }) => (code === 'predicate' ? 'rule' : 'shape'),
    withoutRules: { fallback: { predicate: ({ base }: { base: unknown }) => base } },
  },
  valibot: {
    kindOf: ({ kind, type }) => {
      if (kind === 'transformation') return 'transformation';
      return kind === 'validation' && VALIBOT_RULES.includes(String(type)) ? 'rule' : 'shape';
    },
    withoutRules: { ignoreActions: VALIBOT_RULES },
  },
};

/** Of a library not known here, all is shape. */
const UNKNOWN: Vendor = { kindOf: () => 'shape' };

export function vendorOf(name: string): Vendor {
  return (Object.hasOwn(vendors, name) ? vendors[name] : undefined) ?? UNKNOWN;
}
