import type { ComponentChildren } from 'preact';
import { namePath, rowsOf, rowsPath } from './draft.ts';
import type { FieldProps } from './field-props.ts';

interface RecordProps extends FieldProps {
  /** The control for the value of a row. */
  readonly children: (row: number) => ComponentChildren;
}

/** An object of any names: rows of a name and a value. Rows that stay empty are left out. */
export function RecordInput(props: RecordProps) {
  const { name, path, id, isRequired, draft, problems, onType, children } = props;
  const rows = rowsOf(draft, path);
  return (
    <fieldset class="record">
      <legend>
        {name}
        {!isRequired && <span class="muted"> optional</span>}
      </legend>
      {Array.from({ length: rows }, (_, row) => {
        const own = namePath(path, row);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have nothing but their number
          <div key={row} class="row">
            <div class="field">
              <label for={`${id}${own}`}>name {row + 1}</label>
              <input
                id={`${id}${own}`}
                type="text"
                autocomplete="off"
                value={draft[own] ?? ''}
                aria-invalid={own in problems}
                aria-describedby={own in problems ? `${id}${own}-problem` : undefined}
                onInput={({ currentTarget }) => onType(own, currentTarget.value)}
              />
              {own in problems && (
                <p class="wrong" id={`${id}${own}-problem`}>
                  {problems[own]}
                </p>
              )}
            </div>
            {children(row)}
          </div>
        );
      })}
      <button type="button" onClick={() => onType(rowsPath(path), String(rows + 1))}>
        Add a row
      </button>
    </fieldset>
  );
}
