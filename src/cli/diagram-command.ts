import { PostChainError } from '../../machines/contracts/error.ts';
import { machinesByName } from '../chain/machines.ts';
import { chartOf } from '../durable/charts/chart.ts';
import { mermaid } from '../durable/charts/mermaid.ts';

export interface DiagramFlags {
  readonly format: string;
  readonly depth?: number;
}

export function diagramCommand(name: string, { format, depth }: DiagramFlags): string {
  const machine = Object.hasOwn(machinesByName, name) ? machinesByName[name] : undefined;
  if (machine === undefined)
    throw new PostChainError(
      'invalid_option',
      `Unknown chart "${name}"; expected ${Object.keys(machinesByName).join(', ')}`,
    );
  const chart = chartOf(machine);
  if (format === 'mermaid') return mermaid(chart, depth === undefined ? {} : { depth });
  if (format === 'json') return `${JSON.stringify(chart, null, 2)}\n`;
  throw new PostChainError('invalid_option', `Unknown format "${format}"; expected mermaid or json`);
}
