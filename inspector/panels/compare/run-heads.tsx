import { letterOf } from '../../ui-state/compared.ts';

interface RunHeadsProps {
  /** Of the column before those of the runs. */
  readonly title: string;
  readonly runIds: readonly string[];
}

/** The head of a table with a column for each run. */
export function RunHeads({ title, runIds }: RunHeadsProps) {
  return (
    <thead>
      <tr>
        <th scope="col">{title}</th>
        {runIds.map((id, run) => (
          <th key={id} scope="col">
            {letterOf(run)}
          </th>
        ))}
      </tr>
    </thead>
  );
}
