import { lookup } from "node:dns"
import type { LookupFunction } from "node:net"
import { isLinkLocal } from "../../schema/basics/outboundUrl.ts"

/** Resolves a name; refuses one that resolves to the addresses where clouds serve credentials. */
export const checkedLookup: LookupFunction = (hostname, options, callback) =>
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? []
    if (error !== null || first === undefined) return callback(error ?? new Error("the name has no address"), "", 0)
    if (addresses.some(({ address }) => isLinkLocal(address))) {
      return callback(new Error("its name leads to a link-local address, which is refused"), "", 0)
    }
    return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family)
  })
