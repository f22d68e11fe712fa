import type { StandardSchemaV1 } from '@standard-schema/spec';
import { unexpectedFailure } from '../../machines/policies/failures.ts';
import { oneLine } from '../../machines/text/one-line.ts';
import { misfit } from '../internal/schemas/misfit.ts';
import { nullRemover } from '../internal/schemas/null-members.ts';
import type { JsonSchema } from '../internal/schemas/standard-schema.ts';
import { extraKeyFinder } from './extra-keys.ts';
import { listed, pathText, quoted } from './quoted.ts';

type Reading = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** Holds arguments against the schema of a capability. */
export interface ArgumentReader {
  /** What the schema makes of them, or what is wrong in one line. It never rejects. */
  read(args: Record<string, unknown>): Promise<Reading>;
  /** The key that the schema does not name, in a line; null where there is none. */
  extraKeyIn(args: Record<string, unknown>): string | null;
}

const MAX_KNOWN_KEYS = 10;

/** A member that is null and may only be left out is left out: many models say null for what they do not give. */
export function argumentReader(schema: StandardSchemaV1, jsonSchema: JsonSchema): ArgumentReader {
  const withoutNulls = nullRemover(jsonSchema) ?? ((args: unknown) => args);
  const findExtraKey = extraKeyFinder(jsonSchema);
  return {
    async read(args) {
      try {
        const checked = await schema['~standard'].validate(withoutNulls(args));
        if (checked.issues) return { ok: false, problem: issueText(schema, checked.issues) };
        if ('value' in checked) return { ok: true, value: checked.value };
        return { ok: false, problem: 'the arguments: the schema gave neither a value nor issues' };
      } catch (error) {
        return { ok: false, problem: oneLine(`the arguments: ${unexpectedFailure(error).message}`) };
      }
    },
    extraKeyIn(args) {
      const extra = findExtraKey(args);
      if (extra === null) return null;
      const where = pathText(extra.path.slice(0, -1)) || 'the arguments';
      return oneLine(
        `${where}: got the key ${quoted(String(extra.path.at(-1)))}; wanted none but ${listed(extra.known, MAX_KNOWN_KEYS)}`,
      );
    },
  };
}

function issueText(schema: StandardSchemaV1, issues: readonly StandardSchemaV1.Issue[]): string {
  const [issue] = misfit('arguments', schema['~standard'].vendor, issues).issues;
  return oneLine(`${oneLine(issue?.path ?? '', 200) || 'the arguments'}: ${issue?.message || 'do not fit the schema'}`);
}
