/** Host, port and jump hosts of a server: an address behind another jump host may be another machine. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly via?: Address
}

/** Identifies a machine by its address, and by the route to it where there is one. */
export const addressOf = ({ host, port, via }: Address): string =>
  `${host.toLowerCase()}:${port}${via === undefined ? "" : ` through ${addressOf(via)}`}`
