import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Validation } from '../../../machines/contracts/attempt.ts';
import { mapMaybePromise } from '../../internal/schemas/map-maybe-promise.ts';
import { cannotTransform, misfit } from '../../internal/schemas/misfit.ts';
import { nullRemover } from '../../internal/schemas/null-members.ts';
import { type JsonSchema, jsonSchemaOf } from '../../internal/schemas/standard-schema.ts';
import { type RootObject, rootObject } from './root-object.ts';

/** What a reply must be: the JSON Schema that the model is shown, and the check that no reply escapes [promise 4]. */
export interface OutputShape extends RootObject {
  /** Most schemas answer at once; one with an asynchronous rule gives a promise. It never throws or rejects. */
  readonly validate: (value: unknown) => Validation | Promise<Validation>;
}

/**
 * The shape of a Standard Schema's values. `name` is what failures call it.
 *
 * @throws PostChainError `invalid_schema` where the schema has no JSON form and none is given.
 */
export function outputShape(schema: StandardSchemaV1, name: string, jsonSchema?: JsonSchema): OutputShape {
  const told = jsonSchema ?? jsonSchemaOf(schema);
  const root = rootObject(told);
  const remove = nullRemover(told);
  return {
    ...root,
    unwrap: remove === null ? root.unwrap : (given) => remove(root.unwrap(given)),
    validate: (value) => validate(schema, name, value),
  };
}

/** Holds a value against a Standard Schema; what is no verdict is none in its favour. It never throws or rejects. */
export function validate(schema: StandardSchemaV1, name: string, value: unknown): Validation | Promise<Validation> {
  const { vendor } = schema['~standard'];
  const verdictOn = (checked: StandardSchemaV1.Result<unknown>): Validation => {
    if (checked.issues) return { ok: false, failure: misfit(name, vendor, checked.issues) };
    if ('value' in checked) return { ok: true, value: checked.value };
    throw new TypeError('the schema gave neither a value nor issues');
  };
  const broken = (error: unknown): Validation => ({ ok: false, failure: cannotTransform(error) });
  try {
    const verdict = mapMaybePromise(schema['~standard'].validate(value), verdictOn);
    return verdict instanceof Promise ? verdict.catch(broken) : verdict;
  } catch (error) {
    return broken(error);
  }
}
