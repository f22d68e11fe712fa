import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Sdk } from './load-sdk.ts';
import type { Tool } from './tools.ts';

type Check = (value: unknown) => { readonly valid: boolean; readonly errorMessage: string | undefined };

/** With more, a schema that refers to itself doubly takes for ever. */
const MAX_REFERENCES = 32;
const MAX_ISSUE_CHARS = 500;

/**
 * The schema of a tool's arguments, as a Standard Schema, by the SDK's validator that interprets: the schema is the server's, and
 * nothing of it becomes code. Where it cannot be held against, or could take for ever (patterns of the server's own, very many
 * references), the arguments pass, and the server validates them.
 */
export function argumentsSchema(sdk: Sdk, schema: Tool['inputSchema']): StandardSchemaV1 {
  let check: Check | undefined;
  const checked = (value: unknown): ReturnType<Check> => {
    try {
      check ??= isTame(schema) ? new sdk.CfWorkerJsonSchemaValidator().getValidator(schema) : PASS;
      return check(value);
    } catch {
      return PASS(value);
    }
  };
  return {
    '~standard': {
      version: 1,
      vendor: 'mcp',
      validate: (value) => {
        const { valid, errorMessage = '' } = checked(value);
        return valid ? { value } : { issues: [{ message: innermost(errorMessage) }] };
      },
    },
  };
}

const PASS: Check = () => ({ valid: true, errorMessage: undefined });

/** The validator tells a misfit from the outside in, `#: …; #/a: …`. */
function innermost(errorMessage: string): string {
  const told = errorMessage.split('; #').at(-1) ?? '';
  return told
    .replace(/^#?\/?/u, '')
    .replace(/^: /u, '')
    .slice(0, MAX_ISSUE_CHARS);
}

function isTame(schema: unknown): boolean {
  let references = 0;
  const isTameNode = (node: unknown): boolean => {
    if (typeof node !== 'object' || node === null) return true;
    return Object.entries(node).every(([keyword, value]) => {
      if (keyword === 'pattern' && typeof value === 'string') return false;
      if (keyword === 'patternProperties') return false;
      if (keyword.endsWith('ef') && keyword.startsWith('$')) references += 1;
      return references <= MAX_REFERENCES && isTameNode(value);
    });
  };
  return isTameNode(schema);
}
