import type { ComponentProps } from 'preact';

export const LinkButton = (props: Omit<ComponentProps<'button'>, 'type' | 'class'>) => (
  <button type="button" class="link-button" {...props} />
);

interface ToggleProps {
  readonly isOpen: boolean;
  readonly open: (isOpen: boolean) => void;
  readonly more: string;
  readonly less?: string;
}

export const Toggle = ({ isOpen, open, more, less = 'show less' }: ToggleProps) => (
  <LinkButton aria-expanded={isOpen} onClick={() => open(!isOpen)}>
    {isOpen ? less : more}
  </LinkButton>
);
