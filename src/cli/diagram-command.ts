import { PostChainError } from '../../machines/contracts/error.ts';
import { chartOf } from '../diagram/chart.ts';
import { machinesByName } from '../diagram/machines.ts';
import { mermaid } from '../diagram/mermaid.ts';

export interface DiagramFlags {
  readonly format: string;
  readonly depth?: number;
}

/** `postchain diagram`: a chart, drawn from the machine that runs. */
export function diagramCommand(name: string, { format, depth }: DiagramFlags): string {
  const machine = Object.hasOwn(machinesByName, name) ? machinesByName[name] : undefined;
  if (machine === undefined)
    throw new PostChainError(
      'invalid_option',
      `There is no chart "${name}": choose one of ${Object.keys(machinesByName).join(', ')}.`,
    );
  const chart = chartOf(machine);
  if (format === 'mermaid') return mermaid(chart, depth === undefined ? {} : { depth });
  if (format === 'json') return `${JSON.stringify(chart, null, 2)}\n`;
  throw new PostChainError('invalid_option', `There is no format "${format}": choose mermaid or json.`);
}
