import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApprovalAsked } from '../../../machines/policies/questions.ts';
import { safeJson } from '../../../machines/text/safe-json.ts';
import { revealHidden } from '../../fold/text.ts';
import { JsonTree } from '../json-tree.tsx';
import { type EventFormProps, Field, Problem, SendButton } from './event-forms.tsx';

/** `approval.given`: approves one call, with edited arguments if the text was changed, or denies it. A call for the client can only be denied here. */
export function ApprovalForm({ question, isBusy, onSend }: EventFormProps & { readonly question: ApprovalAsked }) {
  const { questionId, digest, capability, arguments: given, problem, isClientTool = false } = question;
  const original = safeJson(given, 2);
  const [text, setText] = useState(original);
  const [isEditing, setEditing] = useState(false);
  const [reason, setReason] = useState('');
  const [invalid, setInvalid] = useState('');
  const editor = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (isEditing) editor.current?.focus();
  }, [isEditing]);
  const send = (rest: object): void => void onSend({ type: 'approval.given', questionId, digest, ...rest });

  const deny = (): void => send({ decision: 'deny', ...(reason !== '' && { reason }) });

  function approve(): void {
    try {
      send({ decision: 'approve', ...(text !== original && { arguments: JSON.parse(text) }) });
    } catch (error) {
      setInvalid(`Not valid JSON: ${(error as Error).message}`);
    }
  }

  return (
    <form
      class="approval"
      aria-label={`Approval of ${capability}`}
      onSubmit={(submitted) => {
        // Submitted by Enter in the reason, the only single-line field.
        submitted.preventDefault();
        if (!isBusy) deny();
      }}
    >
      <p>
        <b>
          {isClientTool ? 'Only the client can run' : 'Allow'} <span class="verbatim">{revealHidden(capability)}</span>
          {isClientTool ? '.' : '?'}
        </b>
      </p>
      {problem !== null && <p class="wrong verbatim">{revealHidden(problem)}</p>}
      {isEditing ? (
        <Field label="Arguments">
          <textarea
            ref={editor}
            rows={Math.min(8, original.split('\n').length)}
            value={text}
            aria-invalid={invalid !== ''}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </Field>
      ) : (
        <JsonTree value={given} />
      )}
      <Problem text={invalid} />
      {!isClientTool && (
        <div class="row">
          <SendButton isBusy={isBusy} onSend={approve}>
            {text === original ? 'Approve' : 'Approve the edited call'}
          </SendButton>
          {!isEditing && (
            <button type="button" onClick={() => setEditing(true)}>
              Edit arguments
            </button>
          )}
        </div>
      )}
      <div class="row deny">
        <Reason value={reason} onChange={setReason} />
        <SendButton isBusy={isBusy} onSend={deny}>
          Deny
        </SendButton>
      </div>
    </form>
  );
}

const Reason = ({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) => (
  <label>
    <span class="visually-hidden">Reason</span>
    <input
      value={value}
      placeholder="reason to deny, optional"
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  </label>
);
