import { z } from 'zod';
import { limitsSchema } from '../../machines/contracts/budget.ts';
import { chainEventSchema } from '../../machines/contracts/chain-event.ts';
import { thresholdsSchema } from '../../machines/contracts/thresholds.ts';
import type { SendableEvent } from './wire.ts';

let known: readonly SendableEvent[] | null = null;

/** What a run can be told, each as JSON Schema. */
export function sendableEvents(): readonly SendableEvent[] {
  known ??= chainEventSchema.options.map((option) => {
    const schema = jsonSchemaOf(option);
    const type = option.shape.type.value;
    return { type, schema: type === 'run.adjusted' ? withNumbers(schema) : schema };
  });
  return known;
}

type JsonSchema = Readonly<Record<string, unknown>>;

function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest;
}

/** The numbers that can be adjusted by their names and bounds. Their defaults are left out: what is not named stays as it is. */
function withNumbers(schema: JsonSchema): JsonSchema {
  const properties = schema['properties'] as JsonSchema;
  return {
    ...schema,
    properties: { ...properties, limits: someOf(limitsSchema), thresholds: someOf(thresholdsSchema) },
  };
}

function someOf(numbers: z.ZodType): JsonSchema {
  const { required: _, ...schema } = jsonSchemaOf(numbers);
  const properties = Object.entries(schema['properties'] as Record<string, JsonSchema>);
  return {
    ...schema,
    properties: Object.fromEntries(properties.map(([name, { default: _, ...number }]) => [name, number])),
  };
}
