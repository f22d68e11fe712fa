import type { ModelRequest } from '../../../machines/contracts/model.ts';
import { freeName, wireName } from '../../internal/wire-name.ts';

/** The names of a request's tools as the server takes them, no two the same, and the way back. */
export interface ToolNames {
  /** The tool that takes the reply. */
  readonly reply: string;
  /** Those offered, in order. */
  readonly offered: readonly string[];
  /** What a tool of the server's name is called here; a name that was not sent is its own. */
  nameOf(wire: string): string;
}

/** Names that servers take as they are stay so; of others that come to the same, the later ones are numbered. */
export function toolNames({ schemaName, tools = [] }: Pick<ModelRequest, 'schemaName' | 'tools'>): ToolNames {
  const names = [schemaName, ...tools.map(({ name }) => name)];
  const byWire = new Map<string, string>();
  const wires = new Map<number, string>();
  const isPlain = (name: string): boolean => wireName(name) === name;
  for (const plainOnes of [true, false]) {
    for (const [at, name] of names.entries()) {
      if (isPlain(name) !== plainOnes) continue;
      const wire = freeName(wireName(name), byWire);
      byWire.set(wire, name);
      wires.set(at, wire);
    }
  }
  const [reply = '', ...offered] = names.map((name, at) => wires.get(at) ?? name);
  return { reply, offered, nameOf: (wire) => byWire.get(wire) ?? wire };
}
