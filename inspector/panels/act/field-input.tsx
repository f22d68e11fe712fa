import { shortJson } from '../../ui-state/short-json.ts';
import type { FieldProps } from './field-props.ts';
import { RecordInput } from './record-input.tsx';
import type { Field } from './schema-fields.ts';

/** One part of an event: a control with its label, or a group of them. */
export function FieldInput(props: FieldProps) {
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
