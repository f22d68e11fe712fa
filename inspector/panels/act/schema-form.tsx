import type { ComponentChildren } from 'preact';
import { useId, useMemo, useRef, useState } from 'preact/hooks';
import type { SendableEvent } from '../../../src/inspection/wire.ts';
import { shortJson } from '../../ui-state/short-json.ts';
import { type Draft, namePath, readDraft, rowsOf, rowsPath } from './draft.ts';
import { type Field, fieldOf } from './schema-fields.ts';
import { SendButton } from './send-button.tsx';

interface SchemaFormProps {
  readonly event: SendableEvent;
  /** What holds now, in the shape of the event: shown where nothing is typed. */
  readonly current: unknown;
  readonly isBusy: boolean;
  /** Gives whether it was told: then the form is empty again. */
  readonly onSend: (event: unknown) => Promise<boolean>;
}

const EMPTY: Draft = {};

/** A form for one event, made from its JSON Schema. */
export function SchemaForm({ event, current, isBusy, onSend }: SchemaFormProps) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const [tried, setTried] = useState(false);
  const field = useMemo(() => fieldOf(event.schema), [event.schema]);
  const { value, problems } = readDraft(field, draft);
  const wrong = Object.keys(problems).length;

  async function submit(submitted: Event): Promise<void> {
    submitted.preventDefault();
    if (isBusy) return;
    if (wrong > 0) {
      setTried(true);
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
      return;
    }
    if (!(await onSend(value))) return;
    setDraft(EMPTY);
    setTried(false);
  }

  return (
    <form ref={form} class="schema-form" aria-label={event.type} noValidate onSubmit={submit}>
      <FieldInput
        field={field}
        name={event.type}
        path=""
        id={id}
        isRequired
        description=""
        current={current}
        draft={draft}
        problems={tried ? problems : EMPTY}
        onType={(path, typed) => setDraft((before) => ({ ...before, [path]: typed }))}
      />
      {tried && wrong > 0 && (
        <p class="wrong" role="alert">
          {wrong === 1 ? 'One thing is' : `${wrong} things are`} not right yet.
        </p>
      )}
      <SendButton isBusy={isBusy} submits>
        Send {event.type}
      </SendButton>
    </form>
  );
}

/** One part of an event: a control with its label, or a group of them. */
function FieldInput(props: FieldProps) {
  const { field } = props;
  switch (field.kind) {
    case 'fixed':
      return null;
    case 'members':
      return <Members {...props} members={field.members} />;
    case 'record':
      return (
        <RecordInput {...props}>
          {(row) => (
            <FieldInput
              {...props}
              field={field.value}
              name={`value ${row + 1}`}
              path={`${props.path}/${row}`}
              isRequired
              current={undefined}
            />
          )}
        </RecordInput>
      );
    default:
      return <Typed {...props} field={field} />;
  }
}

type MembersProps = FieldProps & { readonly members: Extract<Field, { kind: 'members' }>['members'] };

/** The event itself, or an object in it, which is closed until somebody wants it. */
function Members({ members, ...props }: MembersProps) {
  const inside = members.map((member) => (
    <FieldInput
      key={member.name}
      {...props}
      {...member}
      path={`${props.path}/${member.name}`}
      current={memberOf(props.current, member.name)}
    />
  ));
  if (props.path === '') return <>{inside}</>;
  return (
    <details class="members">
      <summary>
        {props.name} {!props.isRequired && <span class="muted">optional</span>}
      </summary>
      <div class="grid">{inside}</div>
    </details>
  );
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

type TypedField = Exclude<Field, { readonly kind: 'fixed' | 'members' | 'record' }>;

function Typed(props: FieldProps & { readonly field: TypedField }) {
  const { name, path, id, isRequired, description, problems } = props;
  const problem = problems[path];
  const own = `${id}${path}`;
  return (
    <div class="field">
      <label for={own}>
        {name}
        {!isRequired && isAtTop(path) && <span class="muted"> optional</span>}
      </label>
      <Control {...props} own={own} />
      {description !== '' && <p class="muted told">{description}</p>}
      {problem !== undefined && (
        <p class="wrong" id={`${own}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}

/** What stands in something optional need not say that it is, too. */
const isAtTop = (path: string): boolean => path.lastIndexOf('/') === 0;

type ControlProps = FieldProps & { readonly field: TypedField; readonly own: string };

function Control({ field, path, own, isRequired, current, draft, problems, onType }: ControlProps) {
  const said = {
    id: own,
    value: draft[path] ?? '',
    'aria-required': isRequired,
    'aria-invalid': path in problems,
    'aria-describedby': path in problems ? `${own}-problem` : undefined,
  };
  const now = current === undefined ? '' : `now ${shortJson(current, 40)}`;
  const hear = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }): void =>
    onType(path, currentTarget.value);
  if (field.kind === 'choice' || field.kind === 'flag') {
    const options = field.kind === 'flag' ? ['true', 'false'] : field.options;
    return (
      <select {...said} onChange={hear}>
        <option value="">{now || '…'}</option>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    );
  }
  if (field.kind === 'json')
    return <textarea {...said} rows={3} spellcheck={false} placeholder={now || 'JSON'} onInput={hear} />;
  return (
    <input
      {...said}
      type="text"
      inputMode={field.kind === 'number' ? 'decimal' : 'text'}
      autocomplete="off"
      placeholder={now}
      onInput={hear}
    />
  );
}

interface RecordProps extends FieldProps {
  /** The control for the value of a row. */
  readonly children: (row: number) => ComponentChildren;
}

/** An object of any names: rows of a name and a value. Rows that stay empty are left out. */
function RecordInput(props: RecordProps) {
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

interface FieldProps {
  readonly field: Field;
  readonly name: string;
  /** Where it stands in the event; empty for the event itself. */
  readonly path: string;
  /** What the ids in this form begin with. */
  readonly id: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly current: unknown;
  readonly draft: Draft;
  readonly problems: Readonly<Record<string, string>>;
  readonly onType: (path: string, typed: string) => void;
}
