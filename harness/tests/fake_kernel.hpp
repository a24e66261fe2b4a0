// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/kernel.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace ropecheck {

/// A sample backend whose answers a test spoils on the way back.
class SpoiledKernel final : public Kernel {
 public:
  using Spoil = std::function<Reply(const ropecheck_step_args& args, Reply reply)>;
  SpoiledKernel(const std::string& backend, Spoil spoil)
      : live_(load_backend(backend)), spoil_(std::move(spoil)) {}

  std::string name() const override { return "spoiled"; }
  std::string version() const override { return ""; }
  std::string path() const override { return ""; }
  bool has_rotate() const override { return live_->has_rotate(); }
  bool has_step() const override { return true; }
  Reply query_support(const ropecheck_model& model, const ropecheck_usage& usage) override {
    return live_->query_support(model, usage);
  }
  std::unique_ptr<KernelSession> open(const ropecheck_model& model, const std::string& execution,
                                      Reply& reply) override {
    auto session = live_->open(model, execution, reply);
    if (session == nullptr) return nullptr;
    return std::make_unique<Session>(std::move(session), spoil_);
  }

 private:
  class Session final : public KernelSession {
   public:
    Session(std::unique_ptr<KernelSession> live, Spoil spoil)
        : live_(std::move(live)), spoil_(std::move(spoil)) {}
    Reply rotate(const ropecheck_rotate_args& args) override { return live_->rotate(args); }
    Reply step(const ropecheck_step_args& args) override { return spoil_(args, live_->step(args)); }
    Reply edit_cache(const ropecheck_edit_args& args) override { return live_->edit_cache(args); }
    Reply read_cache(const ropecheck_read_args& args) override { return live_->read_cache(args); }

   private:
    std::unique_ptr<KernelSession> live_;
    Spoil spoil_;
  };
  std::unique_ptr<Kernel> live_;
  Spoil spoil_;
};

}  // namespace ropecheck
