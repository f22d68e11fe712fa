import type { Draft } from './draft.ts';
import type { Field } from './schema-fields.ts';

export interface FieldProps {
  readonly field: Field;
  readonly name: string;
  /** Where it stands in the event; empty for the event itself. */
  readonly path: string;
  /** What the ids in this form begin with. */
  readonly id: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly current: unknown;
  readonly draft: Draft;
  readonly problems: Readonly<Record<string, string>>;
  readonly onType: (path: string, typed: string) => void;
}
