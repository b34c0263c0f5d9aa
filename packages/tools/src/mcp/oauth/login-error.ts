/** Thrown if the owner has to log in at the server, for the first time or again. */
export class NeedsLogin extends Error {
  constructor(server: string) {
    super(
      `The server ${server} needs connecting: log in with \`parley tools connect ${server}\` or on the page`,
    );
    this.name = "NeedsLogin";
  }
}
