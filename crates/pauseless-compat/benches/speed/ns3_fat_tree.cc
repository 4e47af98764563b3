// A peer for `cargo bench -p pauseless-compat --bench speed`: a k-ary fat tree with constant-rate UDP
// flows on Debian's ns-3. Written for this project; the benchmark builds and starts it:
//
//     ns3_fat_tree K GBPS DELAY_NS PAYLOAD_BYTES DURATION_NS < flows
//
// with a line `SOURCE TARGET BPS` per flow. Hosts are numbered edge by edge, pod by pod. It prints
// `packet-hops events cpu-seconds`, without the time to build the network.

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

struct Flow {
    unsigned source;
    unsigned target;
    uint64_t bps;
};

double CpuSeconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

// Links between two hosts of the tree.
unsigned Hops(unsigned k, const Flow& flow) {
    const unsigned per_edge = k / 2, per_pod = k * k / 4;
    if (flow.source / per_edge == flow.target / per_edge) return 2;
    return flow.source / per_pod == flow.target / per_pod ? 4 : 6;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) {
        std::cerr << "usage: ns3_fat_tree K GBPS DELAY_NS PAYLOAD_BYTES DURATION_NS < flows\n";
        return 2;
    }
    const unsigned k = std::atoi(argv[1]), half = k / 2;
    const uint64_t gbps = std::atoll(argv[2]), delay = std::atoll(argv[3]);
    const unsigned payload = std::atoi(argv[4]);
    const uint64_t duration = std::atoll(argv[5]);
    std::vector<Flow> flows;
    for (Flow flow; std::cin >> flow.source >> flow.target >> flow.bps;) flows.push_back(flow);

    NodeContainer hosts, edges, aggregations, cores;
    hosts.Create(k * half * half);
    edges.Create(k * half);
    aggregations.Create(k * half);
    cores.Create(half * half);

    InternetStackHelper stack;
    Ipv4NixVectorHelper nix;
    stack.SetRoutingHelper(nix);
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();

    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(gbps * 1000000000)));
    link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delay)));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.252");
    std::vector<Ipv4Address> addresses(hosts.GetN());
    auto join = [&](Ptr<Node> a, Ptr<Node> b) {
        NetDeviceContainer ends = link.Install(a, b);
        Ipv4InterfaceContainer interfaces = address.Assign(ends);
        address.NewNetwork();
        // The helper installs FQ-CoDel before every device; a switch has no such thing.
        TrafficControlHelper().Uninstall(ends);
        return interfaces.GetAddress(0);
    };
    for (unsigned host = 0; host < hosts.GetN(); ++host)
        addresses[host] = join(hosts.Get(host), edges.Get(host / half));
    for (unsigned pod = 0; pod < k; ++pod)
        for (unsigned a = 0; a < half; ++a)
            for (unsigned b = 0; b < half; ++b) {
                join(edges.Get(pod * half + a), aggregations.Get(pod * half + b));
                join(aggregations.Get(pod * half + a), cores.Get(a * half + b));
            }

    const uint16_t port = 4791;
    ApplicationContainer sinks;
    for (const Flow& flow : flows) {
        PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(hosts.Get(flow.target)));
        OnOffHelper source("ns3::UdpSocketFactory", InetSocketAddress(addresses[flow.target], port));
        source.SetConstantRate(DataRate(flow.bps), payload);
        source.Install(hosts.Get(flow.source)).Start(Seconds(0));
    }

    // The first packet of each flow finds its way; that is not what is measured.
    Simulator::Stop(NanoSeconds(duration));
    const double begin = CpuSeconds();
    Simulator::Run();
    const double spent = CpuSeconds() - begin;
    uint64_t hops = 0;
    for (unsigned index = 0; index < flows.size(); ++index) {
        const uint64_t bytes = DynamicCast<PacketSink>(sinks.Get(index))->GetTotalRx();
        hops += bytes / payload * Hops(k, flows[index]);
    }
    std::cout << hops << ' ' << Simulator::GetEventCount() << ' ' << spent << '\n';
    Simulator::Destroy();
}
