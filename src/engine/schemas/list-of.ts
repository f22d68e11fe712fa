import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { mapMaybePromise } from '../../internal/async.ts';
import { jsonSchemaOf, marksOf, requireStandardSchema } from '../../internal/standard-schema.ts';
import { relocateSchema } from './output-shape.ts';

/** A list that tells the schema of its items, so that each can be validated as it is complete. */
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
 * A list of items of any library: `listOf(type({ name: 'string' }))`. For zod, `z.array(item)` does the same.
 *
 * @throws PostChainError `invalid_schema` for an item that is no Standard Schema.
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
  if (!Array.isArray(value)) return { issues: [{ message: `expected a list, got ${typeof value}` }] };
  const joined = (results: readonly StandardSchemaV1.Result<unknown>[]): Result<Item> => {
    const issues = results.flatMap(({ issues: found = [] }, index) =>
      found.map((issue) => ({ ...marksOf(issue), message: issue.message, path: [index, ...(issue.path ?? [])] })),
    );
    if (issues.length > 0) return { issues };
    return { value: results.map((result) => (result as StandardSchemaV1.SuccessResult<never>).value) };
  };
  const results: StandardSchemaV1.Result<unknown>[] = [];
  const pending: Promise<void>[] = [];
  const rejected = (error: unknown): void => void pending.push(Promise.reject(error));
  for (const [index, one] of value.entries()) {
    try {
      const kept = mapMaybePromise(item['~standard'].validate(one), (result) => {
        results[index] = result;
      });
      if (kept instanceof Promise) pending.push(kept);
    } catch (error) {
      rejected(error);
    }
  }
  // All of them are waited for by one promise, so that none is rejected without anybody hearing of it.
  return pending.length === 0 ? joined(results) : Promise.all(pending).then(() => joined(results));
}
