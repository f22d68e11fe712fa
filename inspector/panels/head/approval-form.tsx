import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ApprovalAsked } from '../../../machines/policies/questions.ts';
import { safeJson } from '../../../machines/text/safe-json.ts';
import { capitalize } from '../../fold/format.ts';
import { revealHidden } from '../../fold/text.ts';
import { JsonTree } from '../json-tree.tsx';
import { LongText } from '../long-text.tsx';
import { type EventFormProps, Problem, SendButton, TextField } from './event-forms.tsx';

/** `approval.given`: approves one call, with edited arguments if the text was changed, or denies it. A call for the client can only be denied here. */
export function ApprovalForm({ question, isBusy, onSend }: EventFormProps & { readonly question: ApprovalAsked }) {
  const { questionId, digest, capability, arguments: given, problem, isClientTool = false } = question;
  const answer = ({ edited, ...rest }: Answer): void =>
    void onSend({ type: 'approval.given', questionId, digest, ...rest, ...(edited && { arguments: edited.json }) });
  return (
    <QuestionForm
      label={`Approval of ${capability}`}
      title={
        <>
          {isClientTool ? 'Only the client can run' : 'Allow'} <span class="verbatim">{revealHidden(capability)}</span>
          {isClientTool ? '.' : '?'}
        </>
      }
      given={given}
      noun="arguments"
      problem={problem}
      canApprove={!isClientTool}
      isBusy={isBusy}
      onAnswer={answer}
    />
  );
}

/** Text as it is, anything else as JSON. */
const Question = ({ given }: { readonly given: unknown }) =>
  typeof given === 'string' ? (
    <p class="verbatim">
      <LongText text={given} chars={2_000} />
    </p>
  ) : (
    <JsonTree value={given} />
  );

interface Answer {
  readonly decision: 'approve' | 'deny';
  readonly reason?: string;
  /** What is approved instead of the question. */
  readonly edited?: { readonly json: unknown };
}

interface QuestionFormProps {
  readonly label: string;
  readonly title: ComponentChildren;
  /** Who can answer, and what happens until then. */
  readonly about?: string;
  readonly given: unknown;
  readonly noun: string;
  /** What happens with an edited question. */
  readonly hint?: string;
  /** What follows each button while the question is not edited. */
  readonly leadsTo?: Readonly<Record<Answer['decision'], ComponentChildren>>;
  readonly problem?: string | null;
  readonly canApprove?: boolean;
  readonly canDeny?: boolean;
  readonly isBusy: boolean;
  readonly onAnswer: (answer: Answer) => void;
}

/** Approves what a question asks about, as it is or edited, or denies it. */
export function QuestionForm({
  label,
  title,
  about,
  given,
  noun,
  hint,
  leadsTo,
  problem = null,
  canApprove = true,
  canDeny = true,
  isBusy,
  onAnswer,
}: QuestionFormProps) {
  const original = safeJson(given, 2);
  const [text, setText] = useState(original);
  const [isEditing, setEditing] = useState(false);
  const [reason, setReason] = useState('');
  const [invalid, setInvalid] = useState('');
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const wasEditing = useRef(isEditing);
  // If the focused element has been removed, the focus moves to what replaces it.
  useLayoutEffect(() => {
    const isChanged = wasEditing.current !== isEditing && document.activeElement === document.body;
    if (isChanged) form.current?.querySelector<HTMLElement>(isEditing ? 'textarea' : '[data-edit]')?.focus();
    if (isEditing) form.current?.querySelector('textarea')?.setSelectionRange(0, 0);
    wasEditing.current = isEditing;
  }, [isEditing]);
  const why = reason === '' ? {} : { reason };
  const deny = (): void => onAnswer({ decision: 'deny', ...why });

  function approve(): void {
    try {
      onAnswer({ decision: 'approve', ...why, ...(text !== original && { edited: { json: JSON.parse(text) } }) });
    } catch (error) {
      setInvalid(`Not valid JSON: ${(error as Error).message}`);
    }
  }

  return (
    <form
      ref={form}
      class="approval"
      aria-label={label}
      onSubmit={(submitted) => {
        // Submitted by Enter in the reason, the only single-line field.
        submitted.preventDefault();
        if (!isBusy && canDeny) deny();
      }}
    >
      <p>
        <b>{title}</b> {!isEditing && <span class="muted">{about}</span>}
      </p>
      {problem !== null && <p class="wrong verbatim">{revealHidden(problem)}</p>}
      {isEditing ? (
        <TextField
          label={capitalize(noun)}
          {...(hint !== undefined && { hint })}
          rows={Math.min(12, original.split('\n').length)}
          value={text}
          wrong={invalid === '' ? undefined : id}
          onText={setText}
        />
      ) : (
        <Question given={given} />
      )}
      <div class="row answer-row">
        {canDeny && (
          <input
            aria-label="Reason"
            value={reason}
            placeholder="reason, optional"
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        )}
        {canApprove && (
          <span>
            <SendButton isBusy={isBusy} isPrimary onSend={approve}>
              {text === original ? 'Approve' : 'Approve as edited'}
            </SendButton>
            {text === original && leadsTo?.approve}
          </span>
        )}
        {canDeny && (
          <span>
            <SendButton isBusy={isBusy} onSend={deny}>
              Deny
            </SendButton>
            {leadsTo?.deny}
          </span>
        )}
        {canApprove && !isEditing && (
          <button type="button" data-edit onClick={() => setEditing(true)}>
            Edit {noun}
          </button>
        )}
        {isEditing && (
          <button
            type="button"
            onClick={() => {
              setText(original);
              setInvalid('');
              setEditing(false);
            }}
          >
            Cancel
          </button>
        )}
        <Problem id={id} text={invalid} />
      </div>
    </form>
  );
}
