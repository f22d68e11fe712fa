import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { mapMaybePromise } from '../../internal/async.ts';
import { jsonSchemaOf, marksOf, requireStandardSchema } from '../../internal/standard-schema.ts';
import { relocateSchema } from './output-shape.ts';

/** The schema of an array that exposes the schema of its items, so that each can be validated when it is complete. */
export interface ListSchema<Item extends StandardSchemaV1>
  extends StandardSchemaV1<StandardSchemaV1.InferInput<Item>[], StandardSchemaV1.InferOutput<Item>[]> {
  readonly element: Item;
  readonly '~standard': StandardSchemaV1.Props<
    StandardSchemaV1.InferInput<Item>[],
    StandardSchemaV1.InferOutput<Item>[]
  > &
    StandardJSONSchemaV1.Props<StandardSchemaV1.InferInput<Item>[], StandardSchemaV1.InferOutput<Item>[]>;
}

/**
 * Returns the schema of an array of items, for any schema library: `listOf(type({ name: 'string' }))`. With zod, use `z.array(item)`.
 *
 * @throws PostChainError `invalid_schema` if the item is not a Standard Schema.
 */
export function listOf<Item extends StandardSchemaV1>(item: Item): ListSchema<Item> {
  requireStandardSchema(item);
  const jsonSchema = (): Record<string, unknown> => {
    const { schema, definitions } = relocateSchema('/items', jsonSchemaOf(item));
    return { type: 'array', items: schema, ...definitions };
  };
  return {
    element: item,
    '~standard': {
      version: 1,
      vendor: item['~standard'].vendor,
      validate: (value) => validateItems(item, value),
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  };
}

type Result<Item extends StandardSchemaV1> = StandardSchemaV1.Result<StandardSchemaV1.InferOutput<Item>[]>;

function validateItems<Item extends StandardSchemaV1>(
  item: Item,
  value: unknown,
): Result<Item> | Promise<Result<Item>> {
  if (!Array.isArray(value)) return { issues: [{ message: `expected an array; received ${typeof value}` }] };
  const results: StandardSchemaV1.Result<unknown>[] = [];
  const pending: Promise<void>[] = [];
  for (const [index, one] of value.entries()) {
    const keep = (result: StandardSchemaV1.Result<unknown>): void => {
      results[index] = result;
    };
    try {
      const kept = mapMaybePromise(item['~standard'].validate(one), keep);
      if (kept instanceof Promise) pending.push(kept);
    } catch (error) {
      pending.push(Promise.reject(error));
    }
  }
  // One promise for all, so that no rejection is unhandled.
  return pending.length === 0 ? joined(results) : Promise.all(pending).then(() => joined(results));
}

/** The paths of issues start with the item's index. */
function joined<Item extends StandardSchemaV1>(results: readonly StandardSchemaV1.Result<unknown>[]): Result<Item> {
  const issues = results.flatMap(({ issues: found = [] }, index) =>
    found.map((issue) => ({ ...marksOf(issue), message: issue.message, path: [index, ...(issue.path ?? [])] })),
  );
  if (issues.length > 0) return { issues };
  return { value: results.map((result) => (result as StandardSchemaV1.SuccessResult<never>).value) };
}
