/** The person lacks the right that the page needs. */
export class Forbidden extends Error {}
