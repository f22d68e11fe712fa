import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Validation } from '../../machines/contracts/attempt.ts';
import { cannotTransform, misfit } from './misfit.ts';
import { withoutNulls } from './null-members.ts';
import { type RootObject, rootObject } from './root-object.ts';
import { type JsonSchema, jsonSchemaOf } from './standard-schema.ts';

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
  return {
    ...root,
    unwrap: (given) => withoutNulls(told, root.unwrap(given)),
    validate: (value) => validate(schema, name, value),
  };
}

/** Holds a value against a Standard Schema. */
export function validate(schema: StandardSchemaV1, name: string, value: unknown): Validation | Promise<Validation> {
  const { vendor } = schema['~standard'];
  const verdictOn = (checked: StandardSchemaV1.Result<unknown>): Validation =>
    checked.issues === undefined
      ? { ok: true, value: checked.value }
      : { ok: false, failure: misfit(name, vendor, checked.issues) };
  const broken = (error: unknown): Validation => ({ ok: false, failure: cannotTransform(error) });
  try {
    const checked = schema['~standard'].validate(value);
    return checked instanceof Promise ? checked.then(verdictOn).catch(broken) : verdictOn(checked);
  } catch (error) {
    return broken(error);
  }
}
