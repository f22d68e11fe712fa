import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { AnyStateMachine } from 'xstate';
import type { DurableMachine } from '../../durable/durable-machine.ts';
import type { EventSchemas } from '../../internal/accepted-events.ts';
import { type JsonSchema, jsonSchemaOf } from '../../internal/standard-schema.ts';
import type { EventForms, InspectedMachines } from '../wire.ts';
import type { ReplayHost } from './recorded-states.ts';

/** A durable machine, and the events that people may send to its actors: a member of the option `machines` of `createServer`. */
export interface InspectedMachine {
  readonly host: ReplayHost;
  /** By type, a schema of the other members of the event. By default, any event may be sent. */
  readonly events?: EventSchemas | undefined;
}

export const hostsOf = (machines: readonly InspectedMachine[]): readonly ReplayHost[] =>
  machines.map(({ host }) => host);

/** A durable machine with all its methods: one that only replays cannot act. */
export const actingHost = (host: ReplayHost): DurableMachine<AnyStateMachine> | null =>
  'send' in host && 'isOpen' in host ? (host as DurableMachine<AnyStateMachine>) : null;

/** Returns what pages need to know about the machines. */
export async function describeMachines(machines: readonly InspectedMachine[]): Promise<InspectedMachines> {
  const described: Record<string, EventForms | null> = {};
  for (const { host, events } of machines) {
    const forms = Object.entries(events ?? {}).map(async ([type, schema]) => [type, await formOf(schema)] as const);
    described[host.machineId] = events === undefined ? null : Object.fromEntries(await Promise.all(forms));
  }
  return described;
}

/** Returns `{}` for a schema without a JSON Schema form: the page then accepts any JSON, and the server validates the event. */
async function formOf(schema: StandardSchemaV1): Promise<JsonSchema> {
  try {
    if (!('_zod' in schema)) return jsonSchemaOf(schema);
    const { toJSONSchema } = await import('zod');
    return { ...toJSONSchema(schema as never, { unrepresentable: 'any', io: 'input' }) };
  } catch {
    return {};
  }
}
