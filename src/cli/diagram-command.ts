import { PostChainError } from '../../machines/contracts/error.ts';
import { machinesByName } from '../chain/machines.ts';
import { chartOf } from '../durable/charts/chart.ts';
import { mermaid } from '../durable/charts/mermaid.ts';
import { printable, printableJson } from '../internal/printable.ts';
import { loadChartModule } from './load-chart-module.ts';

export interface DiagramFlags {
  readonly format: string;
  readonly depth?: number;
}

export async function diagramCommand(name: string, { format, depth }: DiagramFlags): Promise<string> {
  if (format !== 'mermaid' && format !== 'json')
    throw new PostChainError('invalid_option', `Unknown format "${format}"; expected mermaid or json`);
  const builtIn = Object.hasOwn(machinesByName, name) ? machinesByName[name] : undefined;
  const chart = chartOf(builtIn ?? (await loadChartModule(name, Object.keys(machinesByName))).machine);
  return format === 'json'
    ? `${printableJson(JSON.stringify(chart, null, 2))}\n`
    : printable(mermaid(chart, depth === undefined ? {} : { depth }));
}
