/** A text that was gathered for a request: a search result, a capability's result. A short first line is read as its title. */
export interface EvidenceText {
  readonly id: string;
  readonly content: string;
}
